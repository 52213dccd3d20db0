-- Where in each realm's log something last changed that every request looks at: its settings, apps,
-- hosts, clients, web apps, signing keys, subscriptions and providers. What a node keeps of them is good until this moves.
-- Read by: every node, again and again.
--
-- kind: inline
-- types: realm.created realm.settings_changed realm.disabled realm.enabled host.assigned host.released app.created app.updated app.deleted client.registered client.updated client.secret_rotated client.disabled client.enabled client.deleted signing_key.published signing_key.activated signing_key.retired signing_key.removed web_app.registered web_app.updated web_app.removed subscription.created subscription.changed subscription.paused subscription.resumed subscription.disabled subscription.secret_rotated subscription.replayed subscription.deleted subscription.halted subscription.failing subscription.tested provider.configured provider.removed

-- section: tables

create table {table} (
    realm text collate "C" not null primary key,
    position bigint not null
) with (fillfactor = 50);

-- section: apply

create function {table}_apply(
    p_realm text, p_first bigint, p_last bigint, p_types text[])
returns void language plpgsql as $$
begin
    insert into {table} as c (realm, position)
        select p_realm, max(e.position) from urd.event e
        where e.realm = p_realm and e.position between p_first and p_last
            and e.type = any ({types})
        having max(e.position) is not null
    on conflict (realm) do update set position = excluded.position;
end $$;

-- section: finish

-- section: readers

create or replace view urd.configurations as
    select c.realm, c.position from {table} c;
grant select on urd.configurations to urd_app, urd_observer;
