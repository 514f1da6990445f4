-- Who may come in. Of every secret only a digest is kept, of a password a slow hash.
create table tokens (
    id         text   not null primary key,
    digest     blob  not null unique,        -- SHA-256 of its text
    prefix     text   not null,               -- how its text begins, to know it by
    kind       text   not null,               -- agent or person
    name       text   not null,
    scopes     text   not null,               -- asks:create asks:read
    team       text,                          -- of an agent: whose its asks are
    owner      text,                          -- of an agent: the person who may not approve them
    made_at    integer not null,               -- microseconds since 1970, UTC
    expires_at integer,                        -- null: never
    used_at    integer,                        -- to the minute
    revoked_at integer
) strict;

create table sessions (
    id        text   not null primary key,
    digest    blob  not null unique,         -- SHA-256 of the secret in the cookie
    person    text,                           -- null: whoever sits at this machine
    how       text   not null,                -- password, oidc or link
    address   text   not null,
    agent     text   not null,                -- what the browser calls itself
    opened_at integer not null,
    seen_at   integer not null                 -- to the minute
) strict;

create index sessions_of on sessions (person);

create table passwords (
    name text not null primary key,
    hash text not null                        -- argon2id, with its salt and parameters
) strict;

-- Wrong passwords of late, under a digest of who and where from.
create table tries (
    who   text   not null primary key,
    count integer not null,
    since integer not null
) strict;

-- Links that sign in whoever sits at this machine, once.
create table links (
    digest     blob  not null primary key,
    expires_at integer not null
) strict;

-- Whom an identity provider means by a subject.
create table identities (
    issuer  text not null,
    subject text not null,
    person  text not null,
    primary key (issuer, subject)
) strict;
