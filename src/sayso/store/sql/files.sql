-- Files beside asks. The bytes are kept once, however many asks show them.

-- name: keep_file
-- Changes nothing if they are there, but holds the row: whoever erases waits, and finds us.
insert into files (digest, size, data) values (:digest, :size, :data)
on conflict (digest) do update set size = excluded.size

-- name: show_file
insert into ask_files (ask, digest) values (:ask, :digest)

-- name: file
select data from files where digest = :digest

-- name: hold_files
-- Before they are dropped, in a statement of its own: the next one sees who came to show them.
select digest from files where digest in (select digest from ask_files where ask = :stream)
 order by digest {held}

-- name: drop_files
-- Only what no other ask shows.
delete from files
 where digest in (select digest from ask_files where ask = :stream)
   and not exists (select 1 from ask_files o where o.digest = files.digest and o.ask <> :stream)

-- name: hide_files
delete from ask_files where ask = :stream
