-- One reader keeps all indexes that are made from the journal, and begins anew.

delete from readers;
delete from cases;
delete from texts;
delete from tallies;
delete from labels;
delete from trail;
