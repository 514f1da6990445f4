-- What happened, counted by the hour for a whole team and by the day for each agent, tool and tier.
-- All of it comes from the journal, as the index of cases does: dropped, it is counted again.
create table tallies (
    grain  text    not null,            -- 'hour' or 'day'
    at     bigint  not null,            -- the hour or day it began, in hours since 1970
    team   text    not null,            -- '' for none, here and below
    agent  text    not null,
    tool   text    not null,
    tier   text    not null,
    kind   text    not null,            -- of the ask
    what   text    not null,            -- what became of it: 'approved', 'alone', ...
    bin    bigint  not null,            -- how long that took, as eighths of a power of two of seconds
    n      bigint  not null,
    micros bigint  not null,            -- and how long in all
    primary key (grain, at, team, agent, tool, tier, kind, what, bin)
);
