-- How what agents stated of themselves turned out, as sums: what their confidence is worth is read off
-- them. All of it comes from the journal, as the tallies do: dropped, it is made again.
create table labels (
    team        text    not null,       -- '' for none, here and below
    agent       text    not null,
    tool        text    not null,
    kind        text    not null,       -- of the ask
    stated      integer not null,       -- the confidence, in thousandths
    n           integer not null,       -- how many people decided
    good        integer not null,       -- how many of them unchanged, and not found harmful since
    weight      real    not null,       -- the same, with audits counted for all they stand for
    good_weight real    not null,
    primary key (team, agent, tool, kind, stated)
) strict;
