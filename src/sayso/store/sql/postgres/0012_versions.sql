-- Two versions of a program may be at work at once. A run stays with the one that carried it on last,
-- while somebody who has it is alive. '' is code of which nothing is known: anybody's.
alter table runs add column code text not null default '';
alter table workers add column codes text not null default ''; -- |support=2|refunds=~1c9f20d3b7a4|
