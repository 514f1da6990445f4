-- A run's row says who may carry it on. What it did comes from its journal, the stream of its id.
create table runs (
    id          text    not null primary key,
    workflow    text    not null,       -- the name it is served under
    path        text    not null,       -- app:support, where its code is found
    thread      text,
    status      text    not null,
    seq         bigint  not null,       -- events in its journal: fewer, and somebody removed some
    wake        bigint  not null,       -- grows with every decision on one of its asks
    waits       text    not null,       -- |a-7f3k|a-9m2p|: the asks it waits for
    token       text,                   -- the fence of whoever carries it on now
    worker      text,
    lease_until bigint ,
    attempt     integer not null,       -- claims since it last paused
    started_at  bigint  not null,
    changed_at  bigint  not null,
    doing       text,                   -- the step at hand, for people to see
    progress    double precision
);

create index runs_ready on runs (changed_at) where status = 'ready';
create index runs_by_status on runs (status, started_at, id);
create index runs_by_start on runs (started_at, id);
create index runs_lapsing on runs (lease_until) where status = 'running';
create index runs_of_thread on runs (thread, started_at, id) where thread is not null;
create unique index runs_one_of_thread on runs (thread)
    where thread is not null and status in ('ready', 'running', 'waiting', 'parked');

create index asks_run on asks (run) where run is not null;

-- Who is alive and what code it has: a hint for people, nothing is decided by it.
create table workers (
    id      text    not null primary key,
    name    text    not null,
    serves  text    not null,           -- |support|refunds|
    seen_at bigint  not null
);
