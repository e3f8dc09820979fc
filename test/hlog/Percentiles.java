import java.io.File;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** Prints what the reference implementation reads in a log: tag, times, count and percentiles of each line. */
public class Percentiles {
  public static void main(String[] args) throws Exception {
    HistogramLogReader reader = new HistogramLogReader(new File(args[0]));
    while (reader.hasNext()) {
      EncodableHistogram next = reader.nextIntervalHistogram();
      Histogram h = (Histogram) next;
      System.out.println(
          h.getTag() + " " + h.getStartTimeStamp() + " " + h.getEndTimeStamp() + " " + h.getTotalCount()
              + " " + h.getValueAtPercentile(50) + " " + h.getValueAtPercentile(90)
              + " " + h.getValueAtPercentile(99) + " " + h.getValueAtPercentile(99.9) + " " + h.getMaxValue());
    }
  }
}
