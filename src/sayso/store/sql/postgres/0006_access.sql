-- Who may come in. Of every secret only a digest is kept, of a password a slow hash.
create table tokens (
    id         text   not null primary key,
    digest     bytea  not null unique,        -- SHA-256 of its text
    prefix     text   not null,               -- how its text begins, to know it by
    kind       text   not null,               -- agent or person
    name       text   not null,
    scopes     text   not null,               -- asks:create asks:read
    team       text,                          -- of an agent: whose its asks are
    owner      text,                          -- of an agent: the person who may not approve them
    made_at    bigint not null,               -- microseconds since 1970, UTC
    expires_at bigint,                        -- null: never
    used_at    bigint,                        -- to the minute
    revoked_at bigint
);

create table sessions (
    id        text   not null primary key,
    digest    bytea  not null unique,         -- SHA-256 of the secret in the cookie
    person    text,                           -- null: whoever sits at this machine
    how       text   not null,                -- password, oidc or link
    address   text   not null,
    agent     text   not null,                -- what the browser calls itself
    opened_at bigint not null,
    seen_at   bigint not null                 -- to the minute
);

create index sessions_of on sessions (person);

create table passwords (
    name text not null primary key,
    hash text not null                        -- argon2id, with its salt and parameters
);

-- Wrong passwords of late, under a digest of who and where from.
create table tries (
    who   text   not null primary key,
    count bigint not null,
    since bigint not null
);

-- Links that sign in whoever sits at this machine, once.
create table links (
    digest     bytea  not null primary key,
    expires_at bigint not null
);

-- Whom an identity provider means by a subject.
create table identities (
    issuer  text not null,
    subject text not null,
    person  text not null,
    primary key (issuer, subject)
);
