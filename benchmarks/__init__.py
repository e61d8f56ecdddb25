"""What the connector costs, measured against the Java client and Spark's Kafka source: see README.md here."""
