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
       opened_at, due_at, next_at, latest, agent, assignee, effect
  from asks where id = any(:ids)

-- name: ahead
select cast(:xid as xid8) > pg_snapshot_xmax(pg_current_snapshot())

-- name: restored
-- A dump carries the transaction numbers of another server; the tail would wait for ours to pass them.
select coalesce((select max(xid) from events) > pg_snapshot_xmax(pg_current_snapshot()), false)

-- name: renumber
update events set xid = '1'; delete from readers

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by xid desc, pos desc limit :limit
