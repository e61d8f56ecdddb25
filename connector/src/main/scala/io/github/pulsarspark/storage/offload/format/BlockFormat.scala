package io.github.pulsarspark.storage.offload.format

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileSystem, Path}
import org.apache.hadoop.util.functional.FutureIO

import io.github.pulsarspark.format.entry.MalformedBytes

/** One object of blocks and one index object for each ledger, side by side: what all offloaders to cloud storage write.
  */
private[offload] case object BlockFormat extends OffloadFormat {

  /** An index has 20 bytes for a block of at least 5 MiB, and the ledger's metadata. */
  private val MaxIndexBytes = 64L << 20

  override def name: String = "block"

  override def schemes: Set[String] = Set("s3a", "s3", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "oss")

  override def drivers: Map[String, OffloadPolicies => Either[String, String]] = {
    val s3 = bucket(_: OffloadPolicies, "s3ManagedLedgerOffloadBucket").map(b => s"s3a://$b")
    Map(
      "aws-s3"               -> s3,
      "s3"                   -> s3,
      "google-cloud-storage" -> (bucket(_, "gcsManagedLedgerOffloadBucket").map(b => s"gs://$b")),
      "aliyun-oss"           -> (bucket(_).map(b => s"oss://$b")),
      "azureblob"            ->
        (policies =>
          for {
            container <- bucket(policies); account <- azureAccount(policies)
          } yield s"abfss://$container@$account.dfs.core.windows.net"
        )
    )
  }

  /** The driver's older fields, then the one for every driver, in the order of brokers. */
  private def bucket(policies: OffloadPolicies, older: String*): Either[String, String] =
    (older :+ "managedLedgerOffloadBucket").flatMap(policies.text).headOption.toRight(
      "the offload policies name no bucket: set offload.location"
    )

  /** Brokers take the account from their environment; of the policies, only the address of the service may name it. */
  private def azureAccount(policies: OffloadPolicies): Either[String, String] =
    policies
      .text("managedLedgerOffloadServiceEndpoint")
      .flatMap(endpoint => "https?://([a-z0-9]+)\\.(?:blob|dfs)\\..*".r.findFirstMatchIn(endpoint).map(_.group(1)))
      .toRight(
        "the offload policies lack the storage account: " +
          "set offload.location to abfss://container@account.dfs.core.windows.net"
      )

  override def data(ledger: OffloadedLedger): Path =
    new Path(s"${ledger.location.uri}/${ledger.uuid}-ledger-${ledger.ledgerId}")

  override def open(
      ledger: OffloadedLedger,
      first: Long,
      last: Long,
      bufferBytes: Int,
      configuration: Configuration
  ): EntryBufferSource = {
    val index = readIndex(ledger, configuration)
    index.ledger.check(ledger.managedLedger, last)
    new BlockBuffers(openData(ledger, index, configuration), index, first, last, bufferBytes)
  }

  /** The first entries of the blocks. */
  override def splitPoints: Option[(OffloadedLedger, Configuration) => Seq[Long]] = Some { (ledger, configuration) =>
    val index = readIndex(ledger, configuration)
    index.ledger.check(ledger.managedLedger, index.ledger.lastEntryId)
    index.blocks.map(_.firstEntryId)
  }

  def readIndex(ledger: OffloadedLedger, configuration: Configuration): OffloadIndex = {
    val file    = data(ledger).suffix("-index")
    val storage = file.getFileSystem(configuration)
    val length  =
      try storage.getFileStatus(file).getLen
      catch {
        case gone: FileNotFoundException =>
          throw if (isStreamed(ledger, storage)) new UnsupportedOffload(OffloadIndex.Streaming) else gone
      }
    if (length > MaxIndexBytes) throw new MalformedBytes(s"the index has $length bytes")
    val bytes = new Array[Byte](length.toInt)
    val in    = storage.open(file)
    try in.readFully(0, bytes)
    finally in.close()
    OffloadIndex.parse(bytes)
  }

  /** Streaming offload puts several ledgers into one object, which is named without a ledger. */
  private def isStreamed(ledger: OffloadedLedger, storage: FileSystem): Boolean =
    storage.exists(new Path(s"${ledger.location.uri}/${ledger.uuid}-index"))

  /** Passes the length to the client, which would request it otherwise, and that the file is read in order. */
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
    catch { // interrupted: a file that opens later is closed
      case e: Throwable =>
        opening.thenAccept(_.close())
        throw e
    }
  }
}
