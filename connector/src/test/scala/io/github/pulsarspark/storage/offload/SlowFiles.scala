package io.github.pulsarspark.storage.offload

import java.net.URI
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path, RawLocalFileSystem}

/** Files of this machine behind a storage that takes its time; its scheme is `slow`. */
final class SlowFiles extends RawLocalFileSystem {
  override def getScheme: String = "slow"
  override def getUri: URI       = URI.create("slow:///")

  override def open(file: Path, bufferSize: Int): FSDataInputStream = {
    SlowFiles.opened.incrementAndGet()
    SlowFiles.delay(file)
    super.open(file, bufferSize)
  }
}

object SlowFiles {

  /** Files that were asked for. */
  val opened: AtomicInteger = new AtomicInteger

  /** Called with each file before it is opened. */
  @volatile var delay: Path => Unit = _ => ()

  def configure(configuration: Configuration): Unit = {
    configuration.set("fs.slow.impl", classOf[SlowFiles].getName)
    configuration.setBoolean("fs.slow.impl.disable.cache", true)
  }
}
