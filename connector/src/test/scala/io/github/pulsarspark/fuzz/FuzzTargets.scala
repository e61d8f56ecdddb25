package io.github.pulsarspark.fuzz

import java.nio.file.{Files, Path}

import io.github.pulsarspark.checkpoint.log.{JournalFuzz, RecordFuzz, SnapshotFuzz}
import io.github.pulsarspark.format.{ChunksFuzz, EntryFuzz}
import io.github.pulsarspark.inspect.doctor.TokenFuzz
import io.github.pulsarspark.inspect.state.LogFileFuzz
import io.github.pulsarspark.options.registry.OptionsFuzz
import io.github.pulsarspark.position.{BoundFuzz, OffsetFuzz}
import io.github.pulsarspark.pulsar.admin.LedgerAnswerFuzz
import io.github.pulsarspark.pulsar.connection.SettingsFuzz
import io.github.pulsarspark.pulsar.crypto.EncryptedEntryFuzz
import io.github.pulsarspark.schema.avro.AvroValueFuzz
import io.github.pulsarspark.schema.json.JsonValueFuzz
import io.github.pulsarspark.schema.keyvalue.KeyValueFuzz
import io.github.pulsarspark.schema.protobuf.{DescriptorFileFuzz, ProtobufValueFuzz}
import io.github.pulsarspark.schema.rows.SchemaTextFuzz
import io.github.pulsarspark.storage.bookkeeper.protocol.ReadAnswerFuzz
import io.github.pulsarspark.storage.offload.BlocksFuzz
import io.github.pulsarspark.storage.segment.LedgerTextFuzz
import io.github.pulsarspark.write.exactlyonce.SinkRecordFuzz

/** Every decoder of bytes from outside. As a program it writes the inputs to begin with into a folder for each target,
  * and prints the names of the targets.
  */
object FuzzTargets {
  val all: Seq[FuzzTarget] = Seq(
    EntryFuzz,
    ChunksFuzz,
    EncryptedEntryFuzz,
    ReadAnswerFuzz,
    BlocksFuzz,
    LedgerTextFuzz,
    LedgerAnswerFuzz,
    AvroValueFuzz,
    JsonValueFuzz,
    ProtobufValueFuzz,
    KeyValueFuzz,
    SchemaTextFuzz,
    DescriptorFileFuzz,
    OffsetFuzz,
    BoundFuzz,
    RecordFuzz,
    JournalFuzz,
    SnapshotFuzz,
    LogFileFuzz,
    SinkRecordFuzz,
    OptionsFuzz,
    SettingsFuzz,
    TokenFuzz
  )

  def main(arguments: Array[String]): Unit = all.foreach { target =>
    val folder = Files.createDirectories(Path.of(arguments.head, target.name))
    target.seeds.zipWithIndex.foreach { case (seed, i) => Files.write(folder.resolve(s"seed-$i"), seed) }
    println(target.name)
  }
}
