package io.github.pulsarspark.storage.offload

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileSystem, Path}
import org.apache.hadoop.io.{BytesWritable, LongWritable, MapFile}
import org.apache.hadoop.util.functional.FutureIO

import io.github.pulsarspark.format.entry.MalformedBytes
import io.github.pulsarspark.storage.segment.{OffloadLocation, OffloadedLedger}

/** The files of offloaded ledgers, by the names that Pulsar gives them. Everything here may wait for the storage as
  * long as its client likes.
  */
private[offload] object OffloadedFiles {

  /** An index has 20 bytes for a block of at least 5 MiB, and the ledger's metadata. */
  private val LongestIndex = 64L << 20

  /** The file or folder that holds the entries. */
  def data(ledger: OffloadedLedger): Path = ledger.location match {
    case OffloadLocation.BlockObjects(uri) => new Path(s"$uri/${ledger.uuid}-ledger-${ledger.ledgerId}")
    case OffloadLocation.MapFiles(uri) => new Path(s"$uri/${ledger.managedLedger}/${ledger.ledgerId}-${ledger.uuid}")
  }

  def open(
      ledger: OffloadedLedger,
      first: Long,
      last: Long,
      chunkBytes: Int,
      configuration: Configuration
  ): EntryBufferSource =
    ledger.location match {
      case _: OffloadLocation.BlockObjects =>
        val index = readIndex(ledger, configuration)
        index.ledger.check(ledger.managedLedger, last)
        new BlockBuffers(openData(ledger, index, configuration), index, first, last, chunkBytes)
      case _: OffloadLocation.MapFiles =>
        new MapFileBuffers(openMapFile(ledger, configuration), ledger.managedLedger, first, last, chunkBytes)
    }

  def readIndex(ledger: OffloadedLedger, configuration: Configuration): OffloadIndex = {
    val file    = data(ledger).suffix("-index")
    val storage = file.getFileSystem(configuration)
    val length  =
      try storage.getFileStatus(file).getLen
      catch {
        case gone: FileNotFoundException =>
          throw if (isStreamed(ledger, storage)) new UnsupportedOffload(UnsupportedOffload.Streaming) else gone
      }
    if (length > LongestIndex) throw new MalformedBytes(s"the index has $length bytes")
    val bytes = new Array[Byte](length.toInt)
    val in    = storage.open(file)
    try in.readFully(0, bytes)
    finally in.close()
    OffloadIndex.parse(bytes)
  }

  /** Streaming offload puts several ledgers into one object, which is named without a ledger. */
  private def isStreamed(ledger: OffloadedLedger, storage: FileSystem): Boolean =
    storage.exists(new Path(s"${ledger.location.uri}/${ledger.uuid}-index"))

  /** Tells the client what it would ask for otherwise, and that one request for all that follows is best. */
  private def openData(
      ledger: OffloadedLedger,
      index: OffloadIndex,
      configuration: Configuration
  ): FSDataInputStream = {
    val file    = data(ledger)
    val builder = file.getFileSystem(configuration).openFile(file)
    builder.opt("fs.option.openfile.read.policy", "sequential")
    builder.opt("fs.option.openfile.length", index.dataLength.toString)
    val opening = builder.build()
    try FutureIO.awaitFuture(opening)
    catch { // given up: whoever opens it later finds nobody to close it
      case e: Throwable =>
        opening.thenAccept(_.close())
        throw e
    }
  }

  private def openMapFile(ledger: OffloadedLedger, configuration: Configuration): MapFile.Reader = {
    val reader = new MapFile.Reader(data(ledger), configuration)
    if (reader.getKeyClass != classOf[LongWritable] || reader.getValueClass != classOf[BytesWritable]) {
      reader.close()
      throw new MalformedBytes(s"its keys and values are ${reader.getKeyClass} and ${reader.getValueClass}")
    }
    reader
  }
}
