select * from private.check_key(:key_hash, :address, :request_id, :limits);
