-- What whoever looks after a fleet wants to know: who carries runs on, and what waits for people.
alter table workers add column version text not null default '';
alter table workers add column engine text not null default 'threads'; -- what wakes it
alter table workers add column threads integer not null default 0;
alter table workers add column busy integer not null default 0;
alter table workers add column lag integer;    -- microseconds from ready to claimed, at most, of late

-- What is open is counted by rank and kind without a look at the rows.
drop index asks_open;
create index asks_open on asks (rank, latest, opened_at, id, kind) where status = 'open';

-- Which journal this is. A backup is the same journal as it was: whoever goes on from it begins a
-- new epoch, and cursors of the one before count no more.
create table desk (
    epoch integer not null,
    copied_at integer                 -- of a backup: when it was taken; it may not be used as it is
) strict;
insert into desk values (0, null);
