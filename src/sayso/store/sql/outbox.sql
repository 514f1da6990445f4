-- Webhooks: whom to tell, how far they have been told, and what is on its way to them.

-- name: webhook_columns
id, url, secret, kinds, team, whole, private, active, cursor, made_at, failures

-- name: put_webhook
insert into webhooks (id, url, secret, kinds, team, whole, private, active, cursor, made_at,
                      served_at, failures)
values (:id, :url, :secret, :kinds, :team, :whole, :private, 1, :cursor, :made_at, 0, 0)

-- name: drop_webhook
delete from webhooks where id = :id

-- name: disable_webhook
update webhooks set active = 0 where id = :id and active = 1

-- name: webhooks
select {@webhook_columns} from webhooks order by made_at, id

-- name: webhook
select {@webhook_columns} from webhooks where id = :id

-- name: webhook_moves
-- Of two couriers who read on from the same place one gets on.
update webhooks set cursor = :after where id = :id and cursor = :before and active = 1

-- name: delivery_columns
id, webhook, stream, seq, kind, status, attempt, next_at, made_at, code, error, took

-- name: put_delivery
insert into deliveries (id, webhook, stream, seq, kind, status, attempt, next_at, made_at)
values (:id, :webhook, :stream, :seq, :kind, 'waiting', 0, {now}, {now})
on conflict (webhook, stream, seq) do nothing

-- name: deliverable
select 1 from webhooks w
 where w.active = 1 and (w.lease_until is null or w.lease_until <= (select {now}))
   and exists (select 1 from deliveries d
                where d.webhook = w.id and d.status = 'waiting' and d.next_at <= (select {now}))
limit 1

-- name: claim_webhook
-- One courier at a time sends to a receiver. Those whose last answer was good come first, and of
-- them whoever has waited longest; a courier that is `steady` takes on no others.
update webhooks
   set holder = :holder, lease_until = {now} + cast(:span as bigint), served_at = {now}
 where id = (select w.id from webhooks w
              where w.active = 1 and (w.lease_until is null or w.lease_until <= (select {now}))
                and (cast(:steady as integer) = 0 or w.failures = 0)
                and exists (select 1 from deliveries d
                             where d.webhook = w.id and d.status = 'waiting'
                               and d.next_at <= (select {now}))
              order by case when w.failures = 0 then 0 else 1 end, w.served_at
              limit 1 {locked}) and {unsynced}
returning {@webhook_columns}

-- name: release_webhook
-- With a span, nobody is to send to it for so long: its receiver asked for that.
update webhooks
   set holder = null, lease_until = {now} + cast(:span as bigint), failures = :failures
 where id = :id and holder = :holder and {unsynced}

-- name: due_deliveries
select {@delivery_columns} from deliveries
 where webhook = :webhook and status = 'waiting' and next_at <= (select {now})
 order by pos limit :limit

-- name: delivery_ends
-- A good answer counts, whoever else tries meanwhile.
update deliveries
   set status = 'delivered', attempt = :attempt, next_at = {now}, code = :code, error = null,
       took = :took
 where id = :id and {unsynced}

-- name: delivery_fails
-- Nothing, if another courier has tried since: its word is newer.
update deliveries
   set status = :status, attempt = :attempt, next_at = :next_at, code = :code, error = :error,
       took = :took
 where id = :id and status = 'waiting' and attempt = :attempt - 1 and {unsynced}

-- name: deliveries_die
update deliveries set status = 'dead', next_at = {now}, error = :error
 where webhook = :webhook and status = 'waiting' and {unsynced}

-- name: redeliver
update deliveries set status = 'waiting', attempt = 0, next_at = {now}
 where id = :id and {unsynced}

-- name: delivery
select {@delivery_columns} from deliveries where id = :id

-- name: deliveries
-- The newest first.
select {@delivery_columns} from deliveries
 where (cast(:status as text) is null or status = cast(:status as text))
   and (cast(:webhook as text) is null or webhook = cast(:webhook as text))
   and (cast(:after as text) is null
        or pos < (select d.pos from deliveries d where d.id = cast(:after as text)))
 order by pos desc limit :limit

-- name: drop_deliveries
-- Of webhooks that are no more; and what arrived long ago.
delete from deliveries
 where (webhook not in (select id from webhooks)
        or (status = 'delivered' and next_at < {now} - cast(:span as bigint))) and {unsynced}
