package io.github.pulsarspark.storage.offload.format

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.{BytesWritable, LongWritable, MapFile}

import io.github.pulsarspark.format.entry.MalformedBytes

/** One Hadoop `MapFile` for each ledger, in folders named like its topic: what the offloader `filesystem` writes. */
private[offload] case object MapFileFormat extends OffloadFormat {

  override def name: String = "mapfile"

  override def schemes: Set[String] = Set("hdfs", "viewfs", "webhdfs", "swebhdfs")

  override def drivers: Map[String, OffloadPolicies => Either[String, String]] = Map(
    "filesystem" ->
      (_.text("fileSystemURI").toRight("the offload policies have no fileSystemURI: set offload.location"))
  )

  override def data(ledger: OffloadedLedger): Path =
    new Path(s"${ledger.location.uri}/${ledger.managedLedger}/${ledger.ledgerId}-${ledger.uuid}")

  override def open(
      ledger: OffloadedLedger,
      first: Long,
      last: Long,
      bufferBytes: Int,
      configuration: Configuration
  ): EntryBufferSource =
    new MapFileBuffers(openFile(ledger, configuration), ledger.managedLedger, first, last, bufferBytes)

  override def splitPoints: Option[(OffloadedLedger, Configuration) => Seq[Long]] = None

  private def openFile(ledger: OffloadedLedger, configuration: Configuration): MapFile.Reader = {
    val reader = new MapFile.Reader(data(ledger), configuration)
    if (reader.getKeyClass != classOf[LongWritable] || reader.getValueClass != classOf[BytesWritable]) {
      reader.close()
      throw new MalformedBytes(s"its keys and values are ${reader.getKeyClass} and ${reader.getValueClass}")
    }
    reader
  }
}
