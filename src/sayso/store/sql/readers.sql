-- How far whoever keeps an index has read the journal.

-- name: reader
select cursor from readers where name = :reader

-- name: reader_moves
-- Of two who read on from the same place one gets on.
insert into readers (name, cursor) select :reader, :after
 where true
on conflict (name) do update set cursor = excluded.cursor where readers.cursor = :before

-- name: reader_restarts
delete from readers where name = :reader
