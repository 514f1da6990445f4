-- name: append
-- The unique (stream, seq) lets one racer win; the guard lets nobody decide too late.
insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
select :stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash
 where not exists (select 1 from asks
                    where id = :guarded
                      and ((:in_time and due_at <= {now}) or (:held and lease_until <= {now})))
on conflict (stream, seq) do nothing

-- name: put_ask
insert into asks (id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
                  opened_at, due_at, effect, holder, lease_until)
values (:id, :ask_stream, :ask_kind, :status, :rank, :risk, :run, :thread, :key, :roles, :voters, :version,
        :opened_at, :due_at, :effect, :holder, {now} + :span)
on conflict (id) do update
   set status = excluded.status, version = excluded.version, voters = excluded.voters,
       effect = excluded.effect, due_at = excluded.due_at, roles = excluded.roles,
       holder = coalesce(excluded.holder, asks.holder),
       lease_until = coalesce(excluded.lease_until, asks.lease_until)

-- name: tail
select pos, stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where pos > :pos order by pos limit :limit

-- name: tip
select coalesce(max(pos), 0) from events

-- name: indexed
select id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, effect
  from asks where id in (select value from json_each(:ids))
