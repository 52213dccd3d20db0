-- How often a subscription was begun, by its creation and by each resume: failures from before the last of
-- them count no more. A row from before this column forgets its failures once.

alter table urd.subscription_cursor add column runs integer not null default 0;
