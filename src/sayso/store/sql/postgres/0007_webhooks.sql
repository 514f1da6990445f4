-- Whom to tell of events, and how far each has been told. The journal is the outbox: a courier
-- turns events behind `cursor` into rows of `deliveries`, in one commit with moving the cursor.
create table webhooks (
    id          text    not null primary key,
    url         text    not null,
    secret      text    not null,           -- signing needs it as it is: no hash would do
    kinds       text    not null,           -- |ask.opened|ask.decided|
    team        text,                       -- only asks and runs of this team
    whole       integer not null,           -- 1: everything the ask says, arguments too
    private     integer not null,           -- 1: may be sent to addresses of this network
    active      integer not null,           -- 0: its receiver said that it is gone
    cursor      text    not null,
    made_at     bigint  not null,           -- microseconds since 1970
    served_at   bigint  not null,           -- when a courier last took it on
    failures    integer not null,           -- in a row, up to the last attempt
    holder      text,                       -- the courier that sends to it now
    lease_until bigint
);

create table deliveries (
    pos     bigint  not null generated always as identity primary key,
    id      text    not null unique,        -- also the id of the message, the same at every attempt
    webhook text    not null,
    stream  text    not null,
    seq     bigint  not null,
    kind    text    not null,
    status  text    not null,               -- waiting, delivered, dead
    attempt integer not null,               -- how many were made
    next_at bigint  not null,               -- when it is due, or when it ended
    made_at bigint  not null,
    code    integer,                        -- what the receiver answered last
    error   text,
    took    integer,                        -- milliseconds of the last attempt
    unique (webhook, stream, seq)
);

create index deliveries_due on deliveries (webhook, next_at) where status = 'waiting';
create index deliveries_ended on deliveries (status, next_at) where status <> 'waiting';
