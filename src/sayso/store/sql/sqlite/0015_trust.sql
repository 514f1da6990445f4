-- How the keys of agents stand, for lists: each is the end of its own stream in the journal, and
-- nothing runs alone because of a row.
create table trust (
    id         text    not null primary key,
    team       text    not null,            -- '' for none
    agent      text    not null,
    version    text    not null,
    tool       text    not null,
    bucket     text    not null,
    tier       text    not null,
    standing   text    not null,            -- 'reviewed', 'proposed', 'granted', 'suspended', 'locked'
    score      real not null,
    ends       integer not null,
    strikes    integer not null,
    grants     integer not null,
    fine       integer not null,
    audits     integer not null,
    harms      integer not null,
    incidents  integer not null,
    marks      text    not null,
    grant_ask  text,
    flag_ask   text,
    changed_at integer not null,
    seq        integer not null
) strict;
create index trust_kin on trust (team, agent, tool, bucket);
create index trust_standing on trust (standing, changed_at);
