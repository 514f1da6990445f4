-- name: near_cases
select {@case_columns}
  from case_words join cases on cases.pos = case_words.rowid
 where case_words match :match and {@case_filter}
 order by bm25(case_words), cases.at desc, cases.id desc limit :limit

-- name: word_counts
select term, min(doc, :most) from case_counts where term in (select value from json_each(:words))

-- name: purge_words
-- A word that is deleted stays in the file until its part of the index is merged.
insert into case_words (case_words) values ('optimize')

-- name: journals
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream in (select value from json_each(:ids)) order by stream, seq
