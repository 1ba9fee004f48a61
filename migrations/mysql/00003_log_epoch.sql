-- +goose Up

-- The epoch of the live logs, which rises whenever the Redis that holds them went back in time.
INSERT INTO index_epochs (role, epoch) VALUES ('log', 1);

-- +goose Down

DELETE FROM index_epochs WHERE role = 'log';
