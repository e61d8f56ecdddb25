package org.apache.spark.sql.pulsar

import org.apache.spark.sql.sources.DataSourceRegister

/** Stands in for the data source of streamnative/pulsar-spark: its package and its name. */
final class StandInProvider extends DataSourceRegister {
  override def shortName(): String = "pulsar"
}
