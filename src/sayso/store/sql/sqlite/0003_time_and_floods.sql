-- What time does to an ask, in which order people see it, and who keeps asking the same.
alter table asks add column next_at integer;    -- when the clock has something to do with it
alter table asks add column latest integer not null default 4611686018427387904; -- due_at, or never
alter table asks add column agent text;         -- whoever put it to people; null if nobody was needed
alter table asks add column likeness text;      -- of asks that another like it is counted on
alter table asks add column assignee text;
alter table asks add column repeats integer not null default 0; -- how often the same was asked again
alter table asks add column paced integer;       -- 1 if the policy limits how much its agent may ask

update asks set next_at = due_at, latest = coalesce(due_at, latest),
                agent = (select substr(e.actor, 7) from events e where e.stream = asks.stream and e.seq = 1);

drop index asks_open;
drop index asks_due;
create index asks_open on asks (rank, latest, opened_at, id) where status = 'open';
create index asks_next on asks (next_at) where status in ('open', 'settling') and next_at is not null;
create unique index asks_alike on asks (likeness)
    where likeness is not null and status in ('open', 'settling');
create index asks_paced on asks (agent, opened_at) where paced = 1;
create index asks_paced_open on asks (agent) where paced = 1 and status = 'open';
