package io.github.pulsarspark.storage.offload

import java.nio.file.Files

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.storage.KilledTasks._
import io.github.pulsarspark.storage.offload.format.{BlockFormat, OffloadLocation}

class KilledOffloadReadsSuite extends UnitSuite {
  import OffloadWriter._

  test("killed reads of offloaded ledgers leave no file and no thread") {
    val random  = dice()
    val folder  = Files.createTempDirectory("killed")
    val writer  = new OffloadWriter(folder)
    val entries = Seq.tabulate(300)(n => Array.fill(5000)(n.toByte))
    SlowFiles.configure(writer.configuration)
    val inBlocks = writer.blockLedger()
    writer.writeBlocks(inBlocks, blocks(entries, 1 << 20, metadata(299)))
    val inMap   = writer.mapLedger()
    writer.writeMapFile(inMap, (-1L -> metadata(299)) +: entries.zipWithIndex.map { case (e, id) => (id.toLong, e) })
    val slow    = inBlocks.copy(location = OffloadLocation(BlockFormat, s"slow://$folder"))
    val ledgers = Iterator.continually(Seq(inBlocks, inMap, slow)).flatten
    killAll(random) {
      Using.resource(OffloadedLedgers.open(ledgers.next(), 0, 299, writer.configuration, 1, 30.seconds)) { source =>
        while (source.next()) ()
      }
    }
    eventually(s"threads are left: ${threads("pulsar-spark-offloaded")}")(threads("pulsar-spark-offloaded").isEmpty)
    assertEquals(filesOpen(_.startsWith(folder.toString)), 0)
  }
}
