package io.github.pulsarspark.inspect.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.write.SinkState

/** The exactly-once sinks whose state is in a namespace. The names are one request; the log of each sink is read. */
private[inspect] object SinksView extends MetadataView {

  override val name: String = "sinks"

  override val columns: StructType = new StructType()
    .add("sink", StringType, nullable = true, "id of the sink")
    .add(
      "nonce",
      StringType,
      nullable = true,
      "owner of the state: `query:<id>` for a stream, `versions` for batches with `txnVersion`, `job` for a batch " +
        "without; null before the first write"
    )
    .add("target", StringType, nullable = true,
      "full name of the topic of the rows; `*` if rows name their topics; empty if it is not known")
    .add("done", LongType, nullable = true, "last epoch that is written; null if there is none")
    .add("prepared", LongType, nullable = true, "epoch that is decided and not finished; null if there is none")

  override val takes: TakenOptions = TakenOptions.of("topic", "sinkNamespace")

  override def check(options: MetadataOptions): Unit = options.requireSinks()

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    SinkState.all(request.options.read.client, request.sinkNamespace.get)
      .map(sink => MetadataRow(sink.id, sink.nonce, sink.target, sink.done, sink.prepared)).iterator
}
