package io.github.pulsarspark.read

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.offsets.{OffsetRange, TimeBounds}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.schema.TopicSchema

/** What one task reads. */
private[pulsarspark] final case class PulsarInputPartition(range: OffsetRange, times: TimeBounds, schema: TopicSchema)
    extends InputPartition

/** What all tasks of a query have in common; has no secret in its text. */
private[pulsarspark] final case class ReadTask(output: StructType, options: ReadOptions)
