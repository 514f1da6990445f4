-- Who may come in. What changes an account is written with its event; what only counts, without.

-- name: hold_person
-- Changes nothing, but keeps whoever is being removed at this moment from getting something more.
update people set active = 1 where name = :person and active = 1

-- name: put_token
insert into tokens (id, digest, prefix, kind, name, scopes, team, owner, made_at, expires_at)
values (:id, :digest, :prefix, :kind, :name, :scopes, :team, :owner, :made_at, :expires_at)

-- name: revoke_token
update tokens set revoked_at = :at where id = :id and revoked_at is null

-- name: revoke_tokens_of
update tokens set revoked_at = :at
 where revoked_at is null and (owner = :person or (kind = 'person' and name = :person))

-- name: token_columns
id, digest, prefix, kind, name, scopes, team, owner, made_at, expires_at, used_at, revoked_at

-- name: token
select {@token_columns} from tokens where digest = :digest

-- name: tokens
select {@token_columns} from tokens order by made_at, id

-- name: token_used
update tokens set used_at = {now} where id = :id and {unsynced}

-- name: put_session
insert into sessions (id, digest, person, how, address, agent, opened_at, seen_at)
values (:id, :digest, :person, :how, :address, :agent, :opened_at, :seen_at)

-- name: drop_session
delete from sessions where id = :id

-- name: drop_sessions_of
delete from sessions where person = :person and id <> :but

-- name: drop_old_sessions
delete from sessions where opened_at <= :opened or seen_at <= :seen

-- name: session_columns
id, digest, person, how, address, agent, opened_at, seen_at

-- name: session
select {@session_columns} from sessions where digest = :digest

-- name: sessions
select {@session_columns} from sessions
 where cast(:person as text) is null or person = cast(:person as text)
 order by opened_at, id

-- name: session_seen
update sessions set seen_at = {now} where id = :id and {unsynced}

-- name: put_password
insert into passwords (name, hash) values (:person, :hash)
on conflict (name) do update set hash = excluded.hash

-- name: drop_password
delete from passwords where name = :person

-- name: with_password
select name from passwords

-- name: password
select hash from passwords where name = :person

-- name: rehash
-- Not if it was changed meanwhile.
update passwords set hash = :hash where name = :person and hash = :before

-- name: count_try
-- Counted before the password is looked at: whoever tries many at once gets no more of them.
insert into tries (who, count, since)
select :who, 1, {now} where {unsynced}
on conflict (who) do update
   set count = case when tries.since <= excluded.since - cast(:span as bigint) then 1 else tries.count + 1 end,
       since = case when tries.since <= excluded.since - cast(:span as bigint) then excluded.since else tries.since end
returning count, since + cast(:span as bigint) - {now}

-- name: forget_tries
delete from tries where who = :who and {unsynced}

-- name: forget_old_tries
delete from tries where since <= {now} - cast(:span as bigint) and {unsynced}

-- name: put_link
-- May come twice, if the connection broke.
insert into links (digest, expires_at) values (:digest, {now} + cast(:span as bigint))
on conflict (digest) do nothing

-- name: take_link
-- Of any number who use it at once one finds it.
delete from links where digest = :digest and expires_at > {now} returning 1

-- name: drop_old_links
delete from links where expires_at <= {now}

-- name: put_identity
insert into identities (issuer, subject, person) values (:issuer, :subject, :person)

-- name: drop_identity
delete from identities where issuer = :issuer and subject = :subject

-- name: drop_identities_of
delete from identities where person = :person

-- name: identity
select person from identities where issuer = :issuer and subject = :subject

-- name: identities
select issuer, subject, person from identities order by person, issuer, subject
