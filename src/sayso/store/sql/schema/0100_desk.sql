-- The tables of a desk, the same on both databases. {big} and {bytes} are words of the dialect;
-- {keyed} ends a table that is kept in the order of its key.

-- An index of asks for lists and due times. What an ask is comes from its journal.
create table asks (
    id          text    not null primary key,
    stream      text    not null,
    kind        text    not null,
    status      text    not null,
    -- 100, 200, 300 and 400 for the words, room between them for tiers of one's own; from 1000 on for
    -- what is for information.
    rank        integer not null,
    tier        text,                   -- by its own name; a word has its rank
    risk        text,
    run         text,
    thread      text,
    key         text,                   -- idempotency key of the opening
    roles       text    not null,       -- |senior|security|
    voters      text    not null,       -- |anna|: who voted on the version shown now
    version     integer not null,
    opened_at   {big}   not null,
    due_at      {big},
    next_at     {big},                  -- when the clock has something to do with it
    latest      {big}   not null default 4611686018427387904, -- due_at, or never
    closed_at   {big},                  -- when it was decided or withdrawn
    agent       text,                   -- whoever put it to people; null if nobody was needed
    assignee    text,
    effect      text,
    holder      text,                   -- whoever waits for it or carries it out; null when that is over
    lease_until {big},
    likeness    text,                   -- of asks that another like it is counted on
    repeats     integer not null default 0, -- how often the same was asked again
    paced       integer,                -- 1 if the policy limits how much its agent may ask
    team        text    not null default '', -- a team is a wall; '' belongs to none
    tool        text                    -- what is to be called; null once erased
){strict};

create unique index asks_key on asks (key) where key is not null;
create index asks_run on asks (run) where run is not null;
create index asks_held on asks (holder) where holder is not null;
create index asks_lapsing on asks (lease_until) where effect = 'intended';
create index asks_next on asks (next_at) where status in ('open', 'settling') and next_at is not null;
create unique index asks_alike on asks (likeness)
    where likeness is not null and status in ('open', 'settling');
create index asks_paced on asks (agent, opened_at) where paced = 1;
create index asks_paced_open on asks (agent) where paced = 1 and status = 'open';

-- A list costs what is on the page: for those whom no wall keeps out, and for each team. What is open is
-- counted by rank, kind and tier without a look at the rows.
create index asks_open on asks (rank, latest, opened_at, id, kind, tier) where status = 'open';
create index asks_open_of_team on asks (team, rank, latest, opened_at, id) where status = 'open';
create index asks_closed on asks (closed_at, id) where closed_at is not null and agent is not null;
create index asks_closed_of_team on asks (team, closed_at, id)
    where closed_at is not null and agent is not null;

create table people (
    name   text    not null primary key,
    roles  text    not null,            -- ["senior"]
    teams  text    not null default '[]', -- ["billing"]
    active integer not null
){keyed};

-- A run's row says who may carry it on. What it did comes from its journal, the stream of its id.
create table runs (
    id          text    not null primary key,
    workflow    text    not null,       -- the name it is served under
    path        text    not null,       -- app:support, where its code is found
    code        text    not null default '', -- the version that carried it on last; '' is anybody's
    thread      text,
    team        text    not null default '',
    status      text    not null,
    seq         {big}   not null,       -- events in its journal: fewer, and somebody removed some
    wake        {big}   not null,       -- grows with every decision on one of its asks
    waits       text    not null,       -- |a-7f3k|a-9m2p|: the asks it waits for
    token       text,                   -- the fence of whoever carries it on now
    worker      text,
    lease_until {big},
    attempt     integer not null,       -- claims since it last paused
    started_at  {big}   not null,
    changed_at  {big}   not null,
    doing       text,                   -- the step at hand, for people to see
    progress    {real}
){strict};

create index runs_ready on runs (changed_at) where status = 'ready';
create index runs_lapsing on runs (lease_until) where status = 'running';
create index runs_failed on runs (status, changed_at, team) where status = 'failed';
-- Runs of other teams are passed by without a look at their rows.
create index runs_by_status on runs (status, started_at, id, team);
create index runs_by_start on runs (started_at, id, team);
create index runs_of_workflow on runs (workflow, started_at, id, team);
create index runs_of_thread on runs (thread, started_at, id) where thread is not null;
-- One run of a thread at a time, in each team.
create unique index runs_one_of_thread on runs (thread, team)
    where thread is not null and status in ('ready', 'running', 'waiting', 'parked');

-- Who is alive and what code it has: a hint for people, nothing is decided by it.
create table workers (
    id      text    not null primary key,
    name    text    not null,
    serves  text    not null,           -- |support|refunds|
    seen_at {big}   not null,
    version text    not null default '',
    engine  text    not null default 'threads', -- what wakes it
    threads integer not null default 0,
    busy    integer not null default 0,
    lag     {big},                      -- microseconds from ready to claimed, at most, of late
    codes   text    not null default '' -- |support=2|refunds=~1c9f20d3b7a4|
){keyed};

-- How far the journal was read for the indexes that are made from it: cases, texts, tallies, labels and
-- trail. Dropped, they are made again.
create table readers (
    name   text not null primary key,
    cursor text not null
){keyed};

-- What was decided of one agent's calls of one tool, the newest first; and of the agent of one team,
-- for a namesake in another team is another agent.
create index cases_at on cases (at, id);
create index cases_of_agent on cases (agent, at);
create index cases_of_tool on cases (tool, at);
create index cases_of_tool_in_team on cases (tool, team, at, id);
create index cases_of_call on cases (agent, tool, at, id);
create index cases_of_call_in_team on cases (agent, team, tool, at, id);
create index cases_of_kind on cases (agent, kind, at, id) where tool is null;
create index cases_of_kind_in_team on cases (agent, team, kind, at, id) where tool is null;

-- What happened, counted by the hour for a whole team, by the day for each agent, tool and tier and for
-- each person, and for ever.
create table tallies (
    grain  text    not null,            -- 'hour', 'day', 'person' (and day) or 'ever'
    at     {big}   not null,            -- the hour or day it began, in hours since 1970; 0 for ever
    team   text    not null,            -- '' for none, here and below
    agent  text    not null,
    tool   text    not null,
    tier   text    not null,
    person text    not null,            -- by 'person': whose word it is
    kind   text    not null,            -- of the ask
    what   text    not null,            -- what became of it: 'approved', 'alone', ...
    bin    {big}   not null,            -- how long that took, as eighths of a power of two of seconds
    n      {big}   not null,
    micros {big}   not null,            -- and how long in all, or another amount, in millionths
    primary key (grain, at, team, agent, tool, tier, person, kind, what, bin)
){keyed};

-- How what agents stated of themselves turned out, as sums: what their confidence is worth is read off
-- them.
create table labels (
    team        text    not null,       -- '' for none, here and below
    agent       text    not null,
    tool        text    not null,
    kind        text    not null,       -- of the ask
    stated      {big}   not null,       -- the confidence, in thousandths
    n           {big}   not null,       -- how many people decided
    good        {big}   not null,       -- how many of them unchanged, and not found harmful since
    weight      {real}  not null,       -- the same, with audits counted for all they stand for
    good_weight {real}  not null,
    primary key (team, agent, tool, kind, stated)
){keyed};

-- Who did what to what, event by event. An event is listed under the team whose ask or run it is of;
-- '#' is the desk itself.
create table trail (
    n       {serial},                   -- in the order of the journal
    team    text    not null,           -- '' for none, here and below
    at      {big}   not null,           -- microseconds since 1970, UTC
    stream  text    not null,
    seq     {big}   not null,
    kind    text    not null,
    sort    text    not null,           -- what the actor is: 'person'
    actor   text    not null,           -- person:anna; of a decision that settled, whose it is
    tool    text    not null,
    verdict text    not null
){strict};

-- A page costs what is on it, whatever it is looked for by: one walk of an index, the newest first.
create index trail_all on trail (team, at, n);
create index trail_of_stream on trail (team, stream, at, n);
create index trail_of_kind on trail (team, kind, at, n);
create index trail_of_sort on trail (team, sort, at, n);
create index trail_of_actor on trail (team, actor, at, n);
create index trail_of_tool on trail (team, tool, at, n) where tool <> '';
create index trail_of_verdict on trail (team, verdict, at, n) where verdict <> '';

-- How the keys of agents stand, for lists: each is the end of its own stream in the journal, and
-- nothing runs alone because of a row.
create table trust (
    id         text    not null primary key,
    team       text    not null,        -- '' for none
    agent      text    not null,
    version    text    not null,
    tool       text    not null,
    bucket     text    not null,
    tier       text    not null,
    standing   text    not null,        -- 'reviewed', 'proposed', 'granted', 'suspended', 'locked'
    score      {real}  not null,
    ends       {big}   not null,
    strikes    {big}   not null,
    grants     {big}   not null,
    fine       {big}   not null,
    audits     {big}   not null,
    harms      {big}   not null,
    incidents  {big}   not null,
    marks      text    not null,
    grant_ask  text,
    flag_ask   text,
    changed_at {big}   not null,
    seq        {big}   not null
){keyed};

create index trust_kin on trust (team, agent, tool, bucket);
create index trust_standing on trust (standing, changed_at);

-- Files beside asks: the bytes once, and which asks show them. Name, type and size are in the journal.
create table files (
    digest text    not null primary key, -- SHA-256 of the bytes
    size   {big}   not null,
    data   {bytes} not null
){strict};

create table ask_files (
    ask    text not null,
    digest text not null,
    primary key (ask, digest)
){keyed};

create index ask_files_of on ask_files (digest);

-- Who may come in. Of every secret only a digest is kept, of a password a slow hash.
create table tokens (
    id         text    not null primary key,
    digest     {bytes} not null unique, -- SHA-256 of its text
    prefix     text    not null,        -- how its text begins, to know it by
    kind       text    not null,        -- agent or person
    name       text    not null,
    scopes     text    not null,        -- asks:create asks:read
    team       text,                    -- of an agent: whose its asks are
    owner      text,                    -- of an agent: the person who may not approve them
    version    text,                    -- of an agent: so that nobody who shows the token says another
    made_at    {big}   not null,        -- microseconds since 1970, UTC
    expires_at {big},                   -- null: never
    used_at    {big},                   -- to the minute
    revoked_at {big}
){keyed};

create index tokens_made on tokens (made_at, id);
create index tokens_of on tokens (name);
create index tokens_owned on tokens (owner) where owner is not null;

create table sessions (
    id        text    not null primary key,
    digest    {bytes} not null unique,  -- SHA-256 of the secret in the cookie
    person    text,                     -- null: whoever sits at this machine
    how       text    not null,         -- password, oidc or link
    address   text    not null,
    agent     text    not null,         -- what the browser calls itself
    opened_at {big}   not null,
    seen_at   {big}   not null          -- to the minute
){keyed};

create index sessions_of on sessions (person);
create index sessions_used on sessions (seen_at, id);

create table passwords (
    name text not null primary key,
    hash text not null                  -- argon2id, with its salt and parameters
){keyed};

-- Wrong passwords of late, under a digest of who and where from.
create table tries (
    who   text  not null primary key,
    count {big} not null,
    since {big} not null
){keyed};

-- Links that sign in whoever sits at this machine, once.
create table links (
    digest     {bytes} not null primary key,
    expires_at {big}   not null
){keyed};

-- Whom an identity provider means by a subject.
create table identities (
    issuer  text not null,
    subject text not null,
    person  text not null,
    primary key (issuer, subject)
){keyed};

create index identities_of on identities (person);

-- Whom to tell of events, and how far each has been told. The journal is the outbox: a courier
-- turns events behind `cursor` into rows of `deliveries`, in one commit with moving the cursor.
create table webhooks (
    id          text    not null primary key,
    url         text    not null,
    secret      text    not null,       -- signing needs it as it is: no hash would do
    kinds       text    not null,       -- |ask.opened|ask.decided|
    team        text,                   -- only asks and runs of this team
    whole       integer not null,       -- 1: everything the ask says, arguments too
    private     integer not null,       -- 1: may be sent to addresses of this network
    active      integer not null,       -- 0: its receiver said that it is gone
    cursor      text    not null,
    made_at     {big}   not null,       -- microseconds since 1970
    served_at   {big}   not null,       -- when a courier last took it on
    failures    integer not null,       -- in a row, up to the last attempt
    holder      text,                   -- the courier that sends to it now
    lease_until {big}
){keyed};

create table deliveries (
    pos     {serial},
    id      text    not null unique,    -- also the id of the message, the same at every attempt
    webhook text    not null,
    stream  text    not null,
    seq     {big}   not null,
    kind    text    not null,
    status  text    not null,           -- waiting, delivered, dead
    attempt integer not null,           -- how many were made
    next_at {big}   not null,           -- when it is due, or when it ended
    made_at {big}   not null,
    code    integer,                    -- what the receiver answered last
    error   text,
    took    integer,                    -- milliseconds of the last attempt
    unique (webhook, stream, seq)
){strict};

create index deliveries_due on deliveries (webhook, next_at) where status = 'waiting';
create index deliveries_ended on deliveries (status, next_at) where status <> 'waiting';
