-- name: append
-- One guarded statement is a whole unit of work: one round trip, one commit.
-- The unique (stream, seq) lets one racer win; the guard lets nobody decide too late.
with written as (
    insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
    select :stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash
     where not exists (select 1 from asks
                        where id = :guarded
                          and ((:in_time and due_at <= {now}) or (:held and lease_until <= {now})))
    on conflict (stream, seq) do nothing
    returning 1
),
indexed as (
    insert into asks (id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
                      opened_at, due_at, effect, holder, lease_until)
    select :id, :ask_stream, :ask_kind, :status, :rank, :risk, :run, :thread, :key, :roles, :voters, :version,
           :opened_at, :due_at, :effect, :holder, {now} + cast(:span as bigint)
      from written where cast(:id as text) is not null
    on conflict (id) do update
       set status = excluded.status, version = excluded.version, voters = excluded.voters,
           effect = excluded.effect, due_at = excluded.due_at, roles = excluded.roles,
           holder = coalesce(excluded.holder, asks.holder),
           lease_until = coalesce(excluded.lease_until, asks.lease_until)
    returning 1
),
told as (
    select pg_notify('sayso', '') from written
)
select count(*) from told

-- name: tail
select e.xid, e.pos, e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from events e
 where (e.xid, e.pos) > (cast(:xid as xid8), cast(:pos as bigint))
   and e.xid < pg_snapshot_xmin(pg_current_snapshot())
 order by e.xid, e.pos limit :limit

-- name: tip
select pg_snapshot_xmin(pg_current_snapshot())

-- name: indexed
select id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, effect
  from asks where id = any(:ids)
