-- name: near_cases
select {@case_columns}
  from cases
 where cases.words @@ cast(:match as tsquery) and {@case_filter}
 order by ts_rank(cases.words, cast(:match as tsquery)) desc, cases.at desc, cases.id desc limit :limit

-- name: word_counts
select w.word, (select count(*) from (select 1 from cases where cases.words @@ cast(quote_literal(w.word) as tsquery) limit :most) found)
  from unnest(cast(:words as text[])) as w (word)

-- name: journals
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream = any(:ids) order by stream, seq
