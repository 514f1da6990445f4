-- Who did what to what, event by event, for looking through the journal: made from it, and disposable.
-- An event is listed under the team whose ask or run it is of; '#' is the desk itself.
create table trail (
    n       bigint  primary key generated always as identity, -- in the order of the journal
    team    text    not null,           -- '' for none, here and below
    at      bigint  not null,           -- microseconds since 1970, UTC
    stream  text    not null,
    seq     bigint  not null,
    kind    text    not null,
    sort    text    not null,           -- what the actor is: 'person'
    actor   text    not null,           -- person:anna; of a decision that settled, whose it is
    tool    text    not null,
    verdict text    not null
);

-- A page costs what is on it, whatever it is looked for by: one walk of an index, the newest first.
create index trail_all on trail (team, at, n);
create index trail_of_stream on trail (team, stream, at, n);
create index trail_of_kind on trail (team, kind, at, n);
create index trail_of_sort on trail (team, sort, at, n);
create index trail_of_actor on trail (team, actor, at, n);
create index trail_of_tool on trail (team, tool, at, n) where tool <> '';
create index trail_of_verdict on trail (team, verdict, at, n) where verdict <> '';
