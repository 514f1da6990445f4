-- Files beside asks: the bytes once, and which asks show them. Name, type and size are in the journal.
create table files (
    digest text    not null primary key,    -- SHA-256 of the bytes
    size   integer not null,
    data   blob    not null
) strict;

create table ask_files (
    ask    text not null,
    digest text not null,
    primary key (ask, digest)
) strict, without rowid;

create index ask_files_of on ask_files (digest);
