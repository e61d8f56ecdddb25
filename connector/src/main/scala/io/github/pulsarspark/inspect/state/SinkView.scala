package io.github.pulsarspark.inspect.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType, TimestampType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.write.exactlyonce.status.SinkInspection

/** The state of one exactly-once sink, as its records and the cluster have it. */
private[inspect] object SinkView extends MetadataView {

  override val name: String = "sink"

  override val columns: StructType = new StructType()
    .add(
      "record",
      StringType,
      nullable = true,
      "`sink` (one row), `driver`, the last `done` epoch, a `prepared` epoch that is not finished, each " +
        "`transaction` of it, or an `open` transaction that no epoch has decided"
    )
    .add("namespace", StringType, nullable = true, "of the sink, where its topics are")
    .add("epoch", LongType, nullable = true, "number of the epoch; of an open transaction, that it was begun for")
    .add("owner", StringType, nullable = true, "driver that wrote the record; of the sink, the last one")
    .add("time", TimestampType, nullable = true, "when it did, by its clock")
    .add("transactions", IntegerType, nullable = true, "transactions of the epoch")
    .add("rows", LongType, nullable = true, "rows of the epoch or transaction; 0 as long as they are not known")
    .add("lost", LongType, nullable = true, "rows of the epoch that are not in the topic, as a person accepted")
    .add("most", LongType, nullable = true, "upper half of the id of the transaction")
    .add("least", LongType, nullable = true, "lower half of the id of the transaction")
    .add("partition", IntegerType, nullable = true, "number of the task in Spark")
    .add("attempt", LongType, nullable = true, "id of the task attempt in Spark")
    .add(
      "state",
      StringType,
      nullable = true,
      "of a transaction: `committed`, `open`, `ended` (probably aborted), or `unknown`; of a driver: `connected`, or " +
        "`unknown`"
    )
    .add("ageMs", LongType, nullable = true, "milliseconds since the transaction began; null unless it is open")
    .add("leftMs", LongType, nullable = true, "milliseconds until the transaction times out; null unless it is open")
    .add("detail", StringType, nullable = true,
      "of the sink, the owner of its state; of a driver, its name and address")

  override val takes: TakenOptions = TakenOptions.of("topic", "sinkNamespace", "sinkId")

  override def check(options: MetadataOptions): Unit = {
    options.sinkId: Unit
    options.requireSinks()
  }

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    SinkInspection(request.options.read.client, request.sinkNamespace.get, request.options.sinkId).map { f =>
      MetadataRow(f.record, f.namespace, f.epoch, f.owner, f.time, f.transactions, f.rows, f.lost, f.most, f.least,
        f.partition, f.attempt, f.state, f.age, f.left, f.detail)
    }.iterator
}
