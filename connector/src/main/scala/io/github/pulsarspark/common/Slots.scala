package io.github.pulsarspark.common

import org.apache.spark.SparkContext

/** Counts the tasks that a cluster of Spark runs at a time. */
private[pulsarspark] object Slots {

  def of(spark: SparkContext): Int =
    math.max(1, spark.defaultParallelism / math.max(1, spark.getConf.getInt("spark.task.cpus", 1)))
}
