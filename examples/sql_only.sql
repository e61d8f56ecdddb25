-- Makes topics, fills them and looks at them in SQL alone, by a catalog. It can run again: messages are added.
--
--   spark-sql --jars pulsar-spark-connector_2.13-0.1.0.jar \
--     --conf spark.sql.catalog.pulsar=io.github.pulsarspark.catalog.PulsarCatalog \
--     --conf spark.sql.catalog.pulsar.service.url=pulsar://localhost:6650 \
--     --conf spark.sql.catalog.pulsar.admin.url=http://localhost:8080 -f sql_only.sql

CREATE TABLE IF NOT EXISTS pulsar.`public/default`.rides (city STRING, km DOUBLE)
TBLPROPERTIES (partitions = 2, retention.time = '7d');

CREATE TABLE IF NOT EXISTS pulsar.`public/default`.cities (city STRING, rides BIGINT, km DOUBLE);

INSERT INTO pulsar.`public/default`.rides (__key, city, km)
VALUES ('taxi-1', 'Berlin', 12.5), ('taxi-2', 'Paris', 8.0), ('taxi-1', 'Berlin', 3.5);

INSERT INTO pulsar.`public/default`.cities (__key, city, rides, km)
SELECT city, city, count(*), sum(km)
FROM pulsar.`public/default`.rides
WHERE __publishTime >= current_timestamp() - INTERVAL 1 DAY
GROUP BY city;

-- The newest total of each city.
SELECT city, max_by(rides, __publishTime) AS rides, max_by(km, __publishTime) AS km
FROM pulsar.`public/default`.cities
GROUP BY city
ORDER BY city;

-- What the topic stores, partition by partition.
SELECT partition, entries, bytes FROM pulsar.`public/default`.rides.partitions ORDER BY partition;
