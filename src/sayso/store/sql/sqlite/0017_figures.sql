-- More is counted: for each person by the day, and for ever. Counts are made from the journal, so they
-- are made again; the first question after this step takes as long as reading it.
drop table tallies;
delete from readers where name = 'tallies';
create table tallies (
    grain  text    not null,            -- 'hour', 'day', 'person' (and day) or 'ever'
    at     integer not null,            -- the hour or day it began, in hours since 1970; 0 for ever
    team   text    not null,            -- '' for none, here and below
    agent  text    not null,
    tool   text    not null,
    tier   text    not null,
    person text    not null,            -- by 'person': whose word it is
    kind   text    not null,            -- of the ask
    what   text    not null,            -- what became of it: 'approved', 'alone', ...
    bin    integer not null,            -- how long that took, as eighths of a power of two of seconds
    n      integer not null,
    micros integer not null,            -- and how long in all, or another amount, in millionths
    primary key (grain, at, team, agent, tool, tier, person, kind, what, bin)
) strict;
