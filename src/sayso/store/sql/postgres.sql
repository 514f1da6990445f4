-- One statement is a whole unit of work: one round trip, one commit. Of any number of
-- racers one finds the place (stream, seq) free; the others break its unique index.

-- name: open
with written as (
    insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
    values (:stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash)
),
indexed as (
    insert into asks (id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
                      opened_at, due_at, effect, holder, lease_until)
    values (:id, :ask_stream, :ask_kind, :status, :rank, :risk, :run, :thread, :key, :roles, :voters,
            :version, :opened_at, :due_at, :effect, :holder, {now} + cast(:span as bigint))
)
select pg_notify('sayso', '')

-- name: noted
-- The end of each statement that first changes a row: the event, if the row was there to change.
written as (
    insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
    select :stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash from changed
    returning 1
)
select pg_notify('sayso', '') from written

-- name: grow
-- Writes nothing once it is too late: that is decided here, not by whoever looked before. The
-- run that is woken comes first, here and everywhere: two who want both must not wait for each other.
with woken as (
    {@run_wake} returning 1
),
changed as (
    update asks
       set status = :status, version = :version, voters = :voters, effect = :effect,
           holder = case when :over then null else coalesce(:holder, holder) end,
           lease_until = case when :over then null
                              else coalesce({now} + cast(:span as bigint), lease_until) end
     where {guard} and (select count(*) from woken) >= 0
    returning 1
),
{@noted}

-- name: judge
-- The same for an ask that nobody holds or carries out: fewer columns, fewer indexes.
with woken as (
    {@run_wake} returning 1
),
changed as (
    update asks
       set status = :status, version = :version, voters = :voters
     where {guard} and (select count(*) from woken) >= 0
    returning 1
),
{@noted}

-- name: note
with written as (
    insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
    values (:stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash)
)
select pg_notify('sayso', '')

-- A change of a run with the one event that says why.

-- name: run_hold_noting
with changed as ({@run_hold} returning 1),
{@noted}

-- name: run_leave_noting
with changed as ({@run_leave} returning 1),
{@noted}

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

-- name: ahead
select cast(:xid as xid8) > pg_snapshot_xmax(pg_current_snapshot())

-- name: restored
-- A dump carries the transaction numbers of another server; the tail would wait for ours to pass them.
select coalesce((select max(xid) from events) > pg_snapshot_xmax(pg_current_snapshot()), false)

-- name: renumber
update events set xid = '1'

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by xid desc, pos desc limit :limit
