package io.github.pulsarspark.write

import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend

/** Lets streaming queries in output mode `update` write here, each updated row as a new message. Spark has no public
  * name for that: its Kafka sink uses the same inner marker, which is there from Spark 3.0 to 4.3.
  */
private[write] trait AppendsUpdates extends SupportsStreamingUpdateAsAppend
