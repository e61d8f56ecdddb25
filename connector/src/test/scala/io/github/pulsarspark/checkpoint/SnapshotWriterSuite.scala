package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Using

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.checkpoint.log.{Change, LogRecord, RecordFormat}
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.topics.CheckpointTopicNames

/** Snapshots of several JVMs that share a store, with a broker in this JVM. */
class SnapshotWriterSuite extends WriteSuite {
  import SnapshotWriterSuite._

  private implicit val threads: ExecutionContext = ExecutionContext.global

  private def settings(records: Int): StoreSettings = {
    val made = new Configuration(false)
    made.set("pulsar-fs.service.url", cluster.serviceUrl)
    made.set("pulsar-fs.snapshotAfterRecords", records.toString)
    StoreSettings(made)
  }

  /** All records of a log, the last of which says so. */
  private def log(name: String): Seq[LogRecord] = Using.resource(PulsarConnection(client())) { connection =>
    Using.resource(connection.journal(name).reader(Position.BeforeAll)) { reader =>
      Iterator.continually(reader.next().get(180, TimeUnit.SECONDS).bytes).flatMap(RecordFormat.parse(_))
        .takeWhile(_.change != Change.MakeFolder(Last)).toSeq
    }
  }

  test("of JVMs that all find a snapshot due, one writes it") {
    val name = CheckpointTopicNames.Prefix + UUID.randomUUID.toString.take(8)
    store(name)
    store(CheckpointTopicNames.content(name))
    val jvms   = (10 to 15).map(records => CheckpointStores.slot(topic(name), settings(records)))
    val writes = jvms.zipWithIndex.map { case (jvm, number) =>
      Future((1 to 100).foreach(n => jvm.use(_.put(Seq(s"$number"), Array(n.toByte), overwrite = true))))
    }
    Await.result(Future.sequence(writes), 3.minutes)
    jvms.head.use(_.change("Ending the log", Change.MakeFolder(Last)))

    val changes = log(topic(name)).map(_.change).zipWithIndex
    val begun   = changes.reverse.collect { case (Change.SnapshotBegin(id), at) => id -> at }.toMap
    val written = changes.collect { case (Change.SnapshotEnd(id, _, _), at) => begun(id) -> at }
    assert(written.size > 3, written)
    written.zip(written.drop(1)).foreach { case ((_, end), (next, _)) => assert(end < next, written) }
  }
}

private object SnapshotWriterSuite {
  private val Last = Seq("last")
}
