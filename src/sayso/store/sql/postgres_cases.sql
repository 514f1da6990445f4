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

-- name: events_at
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from jsonb_array_elements(cast(:places as jsonb)) p (value)
  join events e on e.stream = p.value ->> 0 and e.seq = cast(p.value ->> 1 as bigint)
