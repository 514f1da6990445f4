-- How the server stands, as far as this account may see it.

-- name: connections
select cast(current_setting('max_connections') as integer),
       cast(current_setting('superuser_reserved_connections') as integer),
       (select count(*) from pg_stat_activity where backend_type = 'client backend')

-- name: idlers
-- Who leaves a transaction open holds back the live tail of everybody.
select pid, application_name, cast(extract(epoch from clock_timestamp() - state_change) as bigint)
  from pg_stat_activity
 where datname = current_database() and state like 'idle in transaction%'
   and state_change < clock_timestamp() - cast(:span as interval)
 order by state_change limit 20

-- name: engine_counts
-- The first so many: there are about as many wake-ups as runs that are ready.
select case when j.status = 'doing' and coalesce(w.last_heartbeat < clock_timestamp() - cast(:silent as interval), true)
            then 'stuck' else cast(j.status as text) end,
       count(*)
  from (select status, worker_id from procrastinate_jobs where task_name = 'sayso.wake' limit :limit) j
  left join procrastinate_workers w on w.id = j.worker_id
 group by 1

-- name: written
-- Numbers that lost races took, too.
select coalesce(pg_sequence_last_value(cast(pg_get_serial_sequence('events', 'pos') as regclass)), 0)
