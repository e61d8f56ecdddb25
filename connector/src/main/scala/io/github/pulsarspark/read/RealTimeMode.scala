package io.github.pulsarspark.read

import java.lang.reflect.{Constructor, InvocationTargetException}

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.read.stream.PulsarMicroBatchStream
import io.github.pulsarspark.read.task.ReadContext

/** Opens streams in the form that this line of Spark has a use for. Spark 4.1 and later have a real-time mode, whose
  * interfaces 4.0 lacks: the class that implements them is compiled against a later line, and named here alone.
  */
private[read] object RealTimeMode {

  private val Interface = "org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode"
  private val OurStream = "io.github.pulsarspark.read.realtime.RealTimeStream"

  private lazy val constructor: Option[Constructor[_]] = Try(Class.forName(Interface)) match {
    case Success(_) =>
      Some(Class.forName(OurStream).getConstructor(classOf[ReadContext], classOf[StructType], classOf[String]))
    case Failure(_: ClassNotFoundException) => None
    case Failure(e)                         => throw e
  }

  /** A stream that may run in real-time mode, if Spark has it. */
  def stream(task: ReadContext, columns: StructType, checkpoint: String): MicroBatchStream =
    constructor.fold[MicroBatchStream](new PulsarMicroBatchStream(task, columns, checkpoint)) { made =>
      try made.newInstance(task, columns, checkpoint).asInstanceOf[MicroBatchStream]
      catch { case e: InvocationTargetException => throw e.getCause }
    }
}
