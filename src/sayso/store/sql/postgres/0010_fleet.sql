-- What whoever looks after a fleet wants to know: who carries runs on, and what waits for people.
alter table workers add column version text not null default '';
alter table workers add column engine text not null default 'threads'; -- what wakes it
alter table workers add column threads integer not null default 0;
alter table workers add column busy integer not null default 0;
alter table workers add column lag bigint;    -- microseconds from ready to claimed, at most, of late

-- What is open is counted by rank and kind without a look at the rows.
drop index asks_open;
create index asks_open on asks (rank, latest, opened_at, id, kind) where status = 'open';

-- Which journal this is. A backup is the same journal as it was: whoever goes on from it begins a
-- new epoch, and cursors of the one before count no more.
create table desk (
    epoch bigint not null,
    home  bigint not null             -- the table of events here; in a database that was restored, another
);
insert into desk values (0, cast(cast(cast('events' as regclass) as oid) as bigint));
