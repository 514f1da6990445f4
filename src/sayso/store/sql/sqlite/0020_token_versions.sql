-- Of an agent: the version that it is, so that nobody who shows the token says another one.
alter table tokens add column version text;
