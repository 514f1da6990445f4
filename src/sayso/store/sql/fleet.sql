-- How a fleet stands: who carries runs on, what waits, what was given up. Everything is counted in
-- indexes that hold only what is open, alive or given up; what is over costs nothing.

-- name: put_worker
insert into workers (id, name, serves, codes, version, engine, threads, busy, lag, seen_at)
values (:id, :worker, :serves, :codes, :version, :engine, :threads, :busy, :lag, {now})
on conflict (id) do update
   set serves = excluded.serves, codes = excluded.codes, engine = excluded.engine, threads = excluded.threads,
       busy = excluded.busy, lag = excluded.lag, seen_at = excluded.seen_at

-- name: drop_worker
delete from workers where id = :id

-- name: forget_workers
delete from workers where seen_at < {now} - cast(:span as bigint)

-- name: workers
select id, name, serves, seen_at, version, engine, threads, busy, lag, codes, {now}
  from workers where seen_at > {now} - cast(:span as bigint) order by name

-- name: open_counts
select rank, tier, kind, count(*), min(opened_at) from asks
 where status = 'open' group by rank, tier, kind

-- name: open_needs
select roles, team, count(*) from asks where status = 'open' group by roles, team

-- name: run_counts
-- Not those that are over: they only grow.
select 'ready', count(*) from runs where status = 'ready'
union all
select 'running', count(*) from runs where status = 'running'
union all
select 'waiting', count(*) from runs where status = 'waiting'
union all
select 'parked', count(*) from runs where status = 'parked'

-- name: backlog
-- The runs that anybody could take and that have waited for longest, by the code they need:
-- those that are ready, and those whose worker fell silent.
select workflow, path, count(*), min(since)
  from (select * from (select r.workflow, r.path, r.changed_at as since from runs r
                        where r.status = 'ready' and {seen}
                        order by r.changed_at limit :limit) ready
        union all
        select * from (select r.workflow, r.path, r.lease_until from runs r
                        where r.status = 'running' and r.lease_until <= (select {now}) and {seen}
                        order by r.lease_until limit :limit) silent) oldest
 group by workflow, path
 order by min(since)

-- name: delivery_counts
-- SQLite takes an index of what ended only if the question says so.
select 'waiting', count(*) from deliveries where status = 'waiting'
union all
select 'dead', count(*) from deliveries where status = 'dead' and status <> 'waiting'
