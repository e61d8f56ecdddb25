package io.github.pulsarspark.checkpoint

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv

import io.github.pulsarspark.checkpoint.log.LogSize
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, NearestName, OptionDefinition, OptionRegistry, OptionValue, Scope, SettingSecrets}
import io.github.pulsarspark.options.{ClientOptions, SessionOptions}
import io.github.pulsarspark.pulsar.connection.ClientSettings

/** Settings of the stores of a file system. Their text has no secret.
  *
  * @param maxBytes
  *   limit of all files of a store together
  * @param inlineBytes
  *   size of the largest content in the log itself, which each JVM with the store has in memory
  * @param snapshotAfter
  *   size of the log, at least, between two snapshots
  */
private[checkpoint] final case class StoreSettings(
    client: ClientOptions,
    maxBytes: Long,
    inlineBytes: Long,
    snapshotAfter: LogSize
) {

  /** Limit of one file: it is in memory while it is written or read. */
  def maxFileBytes: Long = math.min(maxBytes, StoreSettings.MaxFileBytes)
}

private[checkpoint] object StoreSettings {

  /** Settings of Hadoop begin with it, those of Spark with `spark.hadoop.` before it. */
  val Prefix = "pulsar-fs."

  private val MaxFileBytes = 1L << 30

  private val Groups  = Set("connection", "authentication", "tls")
  private val Clients = "pulsar.client."

  private val MaxBytes      = setting("maxBytes", "bytes", "10g", 1 << 20)
  private val InlineBytes   = setting("inlineBytes", "bytes", "2k", 1)
  private val SnapshotAfter = setting("snapshotAfterRecords", "count", "5000", 10)
  private val Own           = Seq(MaxBytes, InlineBytes, SnapshotAfter)

  /** Bytes of the log between two snapshots for each record that counts. */
  private val BytesPerRecord = 4096L

  /** Bytes apart from the log, likewise. A store with few files need not keep many times their size. */
  private val ApartPerRecord = 2048L

  /** The settings in Hadoop's configuration. Without an address there, those count with which Spark was started for all
    * reads and writes: `spark.datasource.pulsar.*`.
    */
  def apply(conf: Configuration): StoreSettings = {
    val spark = Option(SparkEnv.get).map(_.conf)
    val set   = conf.getPropsWithPrefix(Prefix).asScala.toMap
    spark.foreach(started =>
      SettingSecrets.check(started.getOption, SparkPrefix,
        set.filter { case (key, _) =>
          started.contains(SparkPrefix + key)
        })
    )
    val (own, given) = set.partition { case (key, _) => Own.exists(_.key.equalsIgnoreCase(key)) }
    given.keys.toSeq.sorted.find(key => !isOfClients(key)).foreach(key => throw refused(key))
    val session = spark.fold(Map.empty[String, String])(_.getAllWithPrefix(SessionPrefix).toMap)
    val all     = if (has(given, Address)) given else session.filter { case (key, _) => isOfClients(key) } ++ given
    if (!has(all, Address))
      throw Conditions.OptionMissing(option = SparkPrefix + Address, example = "pulsar://broker:6650").exception
    apply(all, name => own.collectFirst { case (key, value) if key.equalsIgnoreCase(name) => value })
  }

  private def apply(client: Map[String, String], own: String => Option[String]): StoreSettings = {
    def value(definition: OptionDefinition) = {
      val text = own(definition.key).orElse(definition.default).getOrElse("")
      OptionValue.check(definition, text)
      text
    }
    val records = value(SnapshotAfter).trim.toLong
    StoreSettings(
      ClientOptions(CheckedOptions(client, Scope.Catalog, ClientSettings.fields)),
      OptionValue.bytes(value(MaxBytes)).getOrElse(0L),
      OptionValue.bytes(value(InlineBytes)).getOrElse(0L),
      LogSize(records, records * BytesPerRecord, records * ApartPerRecord)
    )
  }

  private val SparkPrefix   = s"spark.hadoop.$Prefix"
  private val SessionPrefix = s"spark.datasource.${SessionOptions.Name}."
  private val Address       = "service.url"

  private def has(set: Map[String, String], name: String) = set.keys.exists(_.equalsIgnoreCase(name))

  private def isOfClients(key: String): Boolean =
    key.toLowerCase.startsWith(Clients) || OptionRegistry.find(key).exists(d =>
      Groups(d.group) && d.scopes.contains(Scope.BatchWrite)
    )

  private def refused(key: String): Exception =
    if (OptionRegistry.find(key).isEmpty) {
      val near = OptionRegistry.definitions.map(_.key).filter(isOfClients) ++ Own.map(_.key)
      Conditions.OptionUnknown(option = Prefix + key,
        nearest = NearestName(key, near).fold("")(n =>
          s"; the nearest name is `$Prefix$n`"
        )).exception
    } else
      Conditions.OptionWrongMode(option = Prefix + key, mode = "checkpoint store",
        allowed = "reads and writes").exception

  private def setting(key: String, form: String, default: String, least: Long) = OptionDefinition(key, form, "",
    Some(
      default
    ),
    required = false, secret = false, Nil, Nil, Some(least), None, None)
}
