package io.github.pulsarspark.inspect.reads

import scala.concurrent.duration.Duration
import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{StringType, StructType}

import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.read.plan.{BoundResolver, DriverSession}

/** Positions at which a read starts, by the options `startingTime` and `startingOffsets`. Times are those of publishing
  * as brokers search them, without the allowance `publishTimeSkewMs`.
  */
private[inspect] object PositionsView extends MetadataView {

  override val name: String = "positions"

  override val columns: StructType = SelectedTopics.columns
    .add("position", StringType, nullable = true, "the last position before the start, as a value of `endingOffsets`")
    .add("startingOffset", StringType, nullable = true, "the start, as a value of `startingOffsets`")

  override val takes: TakenOptions = TakenOptions.OfTopics ++ TakenOptions.of("startingOffsets", "startingTime") ++
    TakenOptions.OfCounts

  override def check(options: MetadataOptions): Unit = {
    options.requireTopics()
    options.requireOne("startingTime", "startingOffsets")
  }

  override def rows(request: MetadataRequest): Iterator[InternalRow] = {
    val exact = request.options.read.copy(publishTimeSkew = Duration.Zero)
    Using.resource(DriverSession(exact)) { session =>
      val start = new BoundResolver(exact, session.broker).streamStart(session.discovery.topics())
      start.offset.positions.toSeq.map { case (partition, position) =>
        MetadataRow(SelectedTopics.names(partition) ++ Seq(position.toString, s"after $position"): _*)
      }
    }.iterator
  }
}
