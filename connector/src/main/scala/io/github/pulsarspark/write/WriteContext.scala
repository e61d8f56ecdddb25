package io.github.pulsarspark.write

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.schema.WritePlan

/** Values that all tasks of a write share. Its text contains no secret.
  *
  * @param plan
  *   the plan for writes to one topic; None when rows name their topics, each of which is planned when it first appears
  * @param isStream
  *   true if the next micro-batch writes with the same options
  * @param declared
  *   columns of the table, which a topic without a schema gets; None if those of the rows do
  */
private[write] final case class WriteContext(
    input: StructType,
    options: WriteOptions,
    plan: Option[WritePlan],
    isStream: Boolean,
    declared: Option[StructType] = None
)
