-- For development: one account on the pro plan with three zones. It has no key and no password, so nobody can act as
-- it: `npm run admin -- key mint --email dev@watchpost.localhost --scopes read,write` creates a key. It has no
-- channels either: their targets are sealed with SEAL_KEYS, which only the API knows. It can run again, and refuses
-- to if anybody else has an account.

do $$
begin
  if exists (select from auth.users where email is distinct from 'dev@watchpost.localhost') then
    raise exception 'people have accounts here: the seed is for development'
      using hint = 'Nothing was changed. Deploy without --include-seed.';
  end if;
end
$$;

insert into auth.users (
  instance_id, id, aud, role, email, email_confirmed_at, raw_app_meta_data, raw_user_meta_data,
  created_at, updated_at, confirmation_token, recovery_token, email_change_token_new, email_change)
values (
  '00000000-0000-0000-0000-000000000000', '00000000-0000-4000-8000-00000000de70', 'authenticated',
  'authenticated', 'dev@watchpost.localhost', now(), '{"provider": "email", "providers": ["email"]}',
  '{}', now(), now(), '', '', '', '')
on conflict (id) do nothing;

update watchpost.accounts
set plan = 'pro', updated_at = now()
where email = 'dev@watchpost.localhost' and plan = 'free';

-- The API computes a zone's boxes. For circles far from the poles and the antimeridian, a degree of latitude is 111
-- km; a margin of two percent makes the box rather too large than too small.
insert into watchpost.zones (id, owner_id, label, lat, lon, radius_km, min_severity, types, boxes)
select c.id::uuid, a.user_id, c.label, c.lat, c.lon, c.radius_km, c.min_severity, c.types, array[box(
  point(c.lon - d.lon, c.lat - d.lat), point(c.lon + d.lon, c.lat + d.lat))]
from (values
  ('00000000-0000-4000-8000-00000000de71', 'Tokyo', 35.68, 139.77, 300.0, 40.0, array['earthquake']),
  ('00000000-0000-4000-8000-00000000de72', 'San Francisco Bay', 37.77, -122.42, 150.0, 20.0, null),
  ('00000000-0000-4000-8000-00000000de73', 'Istanbul', 41.01, 28.98, 200.0, 30.0, null)
) as c (id, label, lat, lon, radius_km, min_severity, types)
cross join lateral (
  select c.radius_km / 111 * 1.02 as lat, c.radius_km / 111 * 1.02 / cosd(abs(c.lat) + c.radius_km / 111) as lon
) d
cross join watchpost.accounts a
where a.email = 'dev@watchpost.localhost'
on conflict (id) do nothing;
