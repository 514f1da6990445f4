-- name: near_cases
select {@case_columns}
  from case_words join cases on cases.pos = case_words.rowid
 where case_words match :match and {@case_filter}
 order by bm25(case_words), cases.at desc, cases.id desc limit :limit

-- name: word_counts
select term, min(doc, :most) from case_counts where term in (select value from json_each(:words))

-- A word that is deleted stays in the file until its part of the index is merged: a negative number
-- begins to merge all parts, a positive one goes on; its size is the work that is done at once.

-- name: purge_case_words
insert into case_words (case_words, rank) values ('merge', :pages)

-- name: purge_text_words
insert into text_words (text_words, rank) values ('merge', :pages)

-- name: journals
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream in (select value from json_each(:ids)) order by stream, seq

-- name: events_at
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from json_each(:places) p
  cross join events e
 where e.stream = json_extract(p.value, '$[0]') and e.seq = json_extract(p.value, '$[1]')
