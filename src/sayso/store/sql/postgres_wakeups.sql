-- Wake-ups by Procrastinate, if it was installed here (`sayso db migrate`). It has a schema of its own
-- beside ours, so that another one in the same database is no concern of ours, and dropping the
-- schema takes everything away again. It is never asked who may carry a run on: it only wakes.

-- name: engine_path
-- Until the end of the transaction, its names and ours are found, its own first.
select e.name, set_config('search_path', concat_ws(', ', quote_ident(e.name), quote_ident(current_schema()), 'pg_temp'), true)
  from (select case current_schema() when 'public' then 'sayso_engine'
                    else left(current_schema(), 50) || '_engine' end as name) e

-- name: engine_there
select to_regclass('sayso_engine_schema') is not null

-- name: engine_version
select version from sayso_engine_schema

-- name: engine_new
create table sayso_engine_schema (version text not null);
insert into sayso_engine_schema values ('')

-- name: engine_note
update sayso_engine_schema set version = :version

-- name: engine_wakes
-- A channel of PostgreSQL has at most 63 bytes, of which Procrastinate takes 23 for itself.
create or replace function sayso_queue(workflow text) returns text language sql immutable as $$
    select case when octet_length(workflow) <= 40 then workflow else 'sayso-' || md5(workflow) end
$$;
-- In the transaction that makes a run ready. Whatever goes wrong here costs a wake-up, never the
-- decision: workers look for what they were not told of. Decided things go before new ones, and the
-- riskier before the less risky.
create or replace function sayso_wake() returns trigger language plpgsql
    security definer set search_path from current as $$
declare
    urgent integer := 0;
begin
    if new.waits <> '' then
        select coalesce(max(greatest((500 - a.rank) / 100, 0)), 0) into urgent
          from asks a where a.id = any(string_to_array(trim(both '|' from new.waits), '|'));
    end if;
    perform procrastinate_defer_jobs_v1(array[cast(row(
        sayso_queue(new.workflow), 'sayso.wake', urgent, null, null,
        jsonb_build_object('run', new.id), null) as procrastinate_job_to_defer_v1)]);
    return null;
exception when others then
    raise warning 'no wake-up for %: %', new.id, sqlerrm;
    return null;
end
$$;
do $$
begin
    if not exists (select from pg_trigger where tgrelid = cast('runs' as regclass) and tgname = 'sayso_wake_started') then
        create trigger sayso_wake_started after insert on runs
            for each row when (new.status = 'ready') execute function sayso_wake();
    end if;
    if not exists (select from pg_trigger where tgrelid = cast('runs' as regclass) and tgname = 'sayso_wake_again') then
        create trigger sayso_wake_again after update of status on runs
            for each row when (new.status = 'ready' and old.status <> 'ready') execute function sayso_wake();
    end if;
end
$$

-- name: engine_queue
select sayso_queue(name) from unnest(cast(:names as text[])) names (name)

-- name: engine_prune
-- Of runs that somebody took without being woken, or for which nobody is there to be woken: whoever
-- comes looks around. And what workers that died were at, and what Procrastinate keeps as history.
delete from procrastinate_jobs
 where id in (
    select j.id
      from procrastinate_jobs j
      left join runs r on r.id = j.args ->> 'run'
      left join procrastinate_workers w on w.id = j.worker_id
     where j.task_name = 'sayso.wake'
       and case j.status
           when 'todo' then r.status is distinct from 'ready'
                or r.changed_at < {now} - cast(:span as bigint)
                   and not exists (select from workers o
                                    where strpos(o.serves, '|' || r.workflow || '|') > 0
                                      and o.seen_at > {now} - cast(:span as bigint))
           when 'doing' then coalesce(w.last_heartbeat < clock_timestamp() - cast(:silent as interval), true)
           else true end
     order by j.id limit :limit
       for update of j skip locked)

-- name: engine_bury
delete from procrastinate_workers where last_heartbeat < clock_timestamp() - cast(:silent as interval)
